"""What an agent adapter is made of: decoder, lines, reader, memory, tools, command lines."""
