"""The types that everything hinges on; arrays only, no I/O."""
