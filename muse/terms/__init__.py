"""Terms: units of several words, found in text, with vectors by their contexts and translations."""
