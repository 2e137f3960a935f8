"""Class diagrams find what a class holds wherever it says so, and draw no arrow twice."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from kuiper.course.pictures import Picture, class_diagram


class Wheel:
    size: int


class Vehicle:
    def __init__(self, wheels: list[Wheel]) -> None:
        self.wheels: list[Wheel] = wheels
        self._secret: int = 0


class Car(Vehicle):
    def __init__(self, wheels: list[Wheel]) -> None:
        super().__init__(wheels)
        self.doors: int = 4


class Key:
    def __init__(self, car: Car) -> None:
        self.car = car


class Factory:
    def build(self, count: int) -> Car:
        return Car([Wheel()] * count)

    @classmethod
    def found(cls) -> Factory:
        return cls()


def words(picture: Picture) -> list[str]:
    root = ET.fromstring(picture.svg())
    return [element.text or "" for element in root.iter("{http://www.w3.org/2000/svg}text")]


def arrows(picture: Picture) -> int:
    """How many heads are drawn: the filled paths."""
    return picture.body.count('class="kp-faint" d=')


def test_class_diagram_reads_the_fields_that_init_declares() -> None:
    picture = class_diagram([Vehicle, Wheel])
    assert words(picture) == ["Vehicle", "wheels: list[Wheel]", "Wheel", "size: int"]
    assert arrows(picture) == 1


@pytest.mark.parametrize(
    ("holder", "held"), [(Key, Car), (Factory, Car), (Car, Vehicle)], ids=["made from", "makes", "base"]
)
def test_class_diagram_has_an_arrow_for(holder: type, held: type) -> None:
    assert arrows(class_diagram([holder, held])) == 1


def test_class_diagram_has_no_arrow_between_strangers() -> None:
    assert arrows(class_diagram([Factory, Wheel])) == 0


def test_class_diagram_does_not_repeat_the_arrows_of_a_base() -> None:
    assert arrows(class_diagram([Car, Wheel])) == 1
    assert arrows(class_diagram([Car, Vehicle, Wheel])) == 2  # Car to Vehicle, Vehicle to Wheel
