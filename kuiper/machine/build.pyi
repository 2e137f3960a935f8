LANES: int
REGISTERS: int
FUSES: bool
VNNI: str
