"""Where everything lies under the home folder, where a task sees it, and how full it may be. Touches no disk."""
