"""The features CANN's side knows; tests change ``FEATURES``."""

FEATURES = {"both": 2, "only-cann": 1, "newer-in-cann": 9}


def get_features():
    return FEATURES
