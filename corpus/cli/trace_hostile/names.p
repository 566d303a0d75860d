// A reader learns: the note that breaks the limit is 10 kB of text; markup and control characters in values stay text.
event eNote: (text: string, tag: string, numbers: seq[int]);

machine Reader {
  var longest: string;
  start state Read {
    on eNote do (note: (text: string, tag: string, numbers: seq[int])) {
      print note.tag;
      longest = note.text;
      assert sizeof(note.numbers) < 2000, format("{0}: too long", note.tag);
    }
  }
}

machine Main {
  start state Begin {
    entry {
      var reader: Reader;
      var text: string;
      var numbers: seq[int];
      var i: int;
      text = "<b>bold</b> & \"quoted\"";
      while (i < 9) {
        text = format("{0}{1}", text, text);
        i = i + 1;
      }
      i = 0;
      while (i < 2000) {
        numbers += (i, i * i);
        i = i + 1;
      }
      reader = new Reader();
      send reader, eNote, (text = "</script><script>document.title='pwned'</script><img src=x onerror=alert(1)>", tag = "<!-- first -->", numbers = default(seq[int]));
      send reader, eNote, (text = text, tag = "</script><script>document.title='pwned'</script>", numbers = numbers);
    }
  }
}
