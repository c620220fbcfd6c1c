"""Builds on Ray: workers read, cut, extract and embed; the process that builds decides, pays and writes."""
