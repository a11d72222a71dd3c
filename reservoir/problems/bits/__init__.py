"""Problems of bit strings: traps and spin glasses."""
