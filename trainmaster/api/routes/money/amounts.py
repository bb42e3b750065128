"""How amounts of money come in: decimal texts, exact. A number of JSON is refused unless it is whole: 12.10 is not
exactly what it says.
"""

from typing import Annotated, Any

from pydantic import BeforeValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

from trainmaster.core.formats.units import NotRead
from trainmaster.core.money.amounts import MOST_AMOUNT, MOST_PRICE, read_amount
from trainmaster.messages.said import Said
from trainmaster.messages.server import money


def _refused(said: Said) -> PydanticCustomError:
    return PydanticCustomError("said", "refused", {"said": said})


def _reader(most: int, least: int = 0) -> Any:
    def read(value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int | str):
            raise _refused(money.amount_not_text())
        try:
            return read_amount(str(value), most, least)
        except NotRead as error:
            raise _refused(error.said) from None

    return BeforeValidator(read)


def _schema(sign: str) -> WithJsonSchema:
    return WithJsonSchema({"type": "string", "pattern": rf"^{sign}[0-9]{{1,13}}(\.[0-9]{{1,6}})?$"})


Price = Annotated[int, _reader(MOST_PRICE), _schema("")]
"""The price of an hour, 0 or more."""
Sum = Annotated[int, _reader(MOST_AMOUNT), _schema("")]
"""An amount of 0 or more."""
Signed = Annotated[int, _reader(MOST_AMOUNT, -MOST_AMOUNT), _schema("-?")]
"""An amount, or less than 0."""
