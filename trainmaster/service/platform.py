"""The one object the API talks to: every use case of the platform, by name. (Signatures first; see the modules it joins.)"""
