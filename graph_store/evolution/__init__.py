"""How a schema grows: candidates, growth by thresholds, decisions of persons."""
