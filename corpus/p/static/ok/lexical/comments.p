// A line comment.
/* A block comment
   over two lines. */
machine Main { // behind code
  start state S { /* inside */ entry { } }
}
/* not nested: /* the first end counts */
