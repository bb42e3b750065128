"""What the platform says to people, by code: one catalogue for each part, Chinese and English beside each other.

Whoever refuses, judges or notes something makes a `Said` (a code with its arguments) by calling the function of its
catalogue; that is what is kept and sent. Words are made of it where it is read, in the reader's language (`render`).
Standard library only, for the agent says things, too. A part's catalogue is the module of its name; see
docs/design/messages.md.
"""
