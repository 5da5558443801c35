"""Who runs next: queue, placement, the pure planner, the engine thread and the bridge to the event loop."""
