//! Rendering, from constructed decisions: no plugin is loaded.
