"""Coefficients as people read them: .87, −.05, 1.00."""


def short(value: float | None, digits: int = 2) -> str:
    """Two digits without a leading zero; a dash where there is none. Never rounded up to 1."""
    if value is None:
        return "–"
    text = f"{abs(value):.{digits}f}"
    if text.startswith("1.") and abs(value) < 1:
        text = "0." + "9" * digits
    sign = "−" if value < 0 and float(text) else ""
    return sign + text.removeprefix("0") if text.startswith("0.") else sign + text


def apart(value: float, other: float) -> tuple[str, str]:
    """Both with as many digits as tell them apart: .7996 and .8000, not .80 and .80."""
    for digits in range(2, 8):
        texts = short(value, digits), short(other, digits)
        if value == other or texts[0] != texts[1]:
            return texts
    return short(value, 8), short(other, 8)


def percent(share: float) -> str:
    return f"{share * 100:.0f} %"
