/* Bridges, of iron */
int built(void)
{
    return 1911; // Aldwin
}
