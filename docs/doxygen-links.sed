# Makes relative links of a document at the top of the project lead to the files themselves, as seen from
# build/doxygen. Links to the web and pictures stay.
s|(^\|[^!])\[([^]]*)\]\(([A-Za-z][^:)]*)\)|\1<a href="../../\3">\2</a>|g
