import type { SurfaceFaults } from '../../platform/http/index.ts'
import { uploadFaults } from './upload-faults.ts'

// Downloads have few faults of their own. The other messages are those of uploads, as plain text.
export const downloadFaults: SurfaceFaults = {
  ...uploadFaults,
  'path-not-found': () => [404, 'File does not exist.'],
}
