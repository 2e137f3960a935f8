LANES: int
REGISTERS: int
VNNI: str
