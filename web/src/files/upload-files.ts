import { addUploads, pickFiles } from '../uploads/index.ts'
import type { CurrentFolder } from './current-folder.ts'

/** Asks for files, or for a folder, and uploads them to where we are. */
export async function upload(
  { libraryId, libraryName, path }: CurrentFolder,
  options: { folder?: boolean } = {},
) {
  const files = await pickFiles(options)
  if (files.length > 0) addUploads({ libraryId, libraryName, path }, files)
}
