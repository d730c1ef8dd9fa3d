import type { FaultWords } from '../http/index.ts'
import { uploadFaults } from './upload-faults.ts'

// Downloads meet few faults of their own; the words for the rest are those of uploads, sent as plain text.
export const downloadFaults: FaultWords = {
  ...uploadFaults,
  'path-not-found': () => [404, 'File does not exist.'],
}
