import { pickFiles } from '../uploads/picking.ts'
import { addUploads } from '../uploads/uploads.ts'
import type { Here } from './here.ts'

/** Asks for files, or for a folder, and uploads them to where we are. */
export async function upload({ libraryId, libraryName, path }: Here, options: { folder?: boolean } = {}) {
  const files = await pickFiles(options)
  if (files.length > 0) addUploads({ libraryId, libraryName, path }, files)
}
