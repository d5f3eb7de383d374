"""The studio: a world in a thread of its own, shown to browsers. Nothing here is imported by `import impulsar`."""
