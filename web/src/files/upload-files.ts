import { addUploads, pickFiles } from '../uploads/index.ts'
import type { CurrentFolder } from './current-folder.ts'

/** Opens the file picker and uploads the files to the current folder. */
export async function upload(
  { libraryId, libraryName, path }: CurrentFolder,
  options: { folder?: boolean; camera?: boolean } = {},
) {
  const files = await pickFiles(options)
  if (files.length > 0) void addUploads({ libraryId, libraryName, path }, files)
}
