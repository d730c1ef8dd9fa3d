import { kinds } from '../../../base/schemas/index.ts'

export const usage = {
  current: kinds.count('Bytes of the current content.'),
  trash: kinds.count('Bytes that only the trash needs.'),
  history: kinds.count('Bytes that only the history needs.'),
  unreferenced: kinds.count('Bytes that nothing needs any more. Garbage collection frees them.'),
  shared: kinds.count('Bytes of those above that other libraries need too.'),
  total: kinds.count('The sum of the first four.'),
}
