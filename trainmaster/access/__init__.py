"""Floor 1: who may do what, as data and one pure function. No I/O, no clock; knows neither HTTP nor the store."""
