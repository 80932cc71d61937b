import { expect, test } from 'vitest'

import { parsePatch } from './patch'

const PATCH = `diff --git a/one.txt b/one.txt
index 1..2 100644
--- a/one.txt
+++ b/one.txt
@@ -1,2 +1,2 @@
 same
-old
+new
@@ -9 +9 @@
--- a dash
\\ No newline at end of file
diff --git a/made.txt b/made.txt
new file mode 100644
--- /dev/null
+++ b/made.txt
@@ -0,0 +1 @@
+first
`

test('a patch is told file by file, with a gap between its places', () => {
  const [one, made] = parsePatch(PATCH)
  expect(one).toMatchObject({ name: 'one.txt', state: '', fresh: 1, gone: 2 })
  expect(one!.lines.map((line) => line.kind)).toEqual(['same', 'gone', 'new', 'place', 'gone'])
  expect(one!.lines.at(-1)!.text).toBe('-- a dash')
  expect(made).toMatchObject({ name: 'made.txt', state: 'made', fresh: 1, gone: 0 })
})

test('no difference has no files', () => {
  expect(parsePatch('')).toEqual([])
})
