"""The scheduling framework: extension points, what a plugin is and answers, profiles, and the runtime that holds their plugins."""
