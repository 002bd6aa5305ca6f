"""The campaign's fixed library of small operators."""
