"""What is said of clusters, their queue, and checks of them."""
