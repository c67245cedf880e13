"""When something happens within a step: brackets of event functions, and what lies below a function between two points."""
