import { scanDroppedFiles } from './dropped-files.ts'
import { addScan, addUploads, type UploadTarget } from './uploads.ts'

/** The name that browsers give to an image that was copied from an application. */
const UNNAMED = /^image\.(?<extension>\w+)$/

/** Uploads files of the clipboard. Must be called in the event handler, because the browser clears the data afterwards. */
export function uploadPasted(target: UploadTarget, data: DataTransfer): void {
  const { libraryId, libraryName, path } = target
  const into = { libraryId, libraryName, path }
  const [file] = data.files
  const named =
    data.files.length === 1 && file !== undefined ? nameOfPasted(file.name, new Date()) : undefined
  if (file === undefined || named === undefined) void addScan(into, scanDroppedFiles(data))
  else void addUploads(into, [{ file, relativePath: named }])
}

/** A name with the local time, so that several screenshots do not replace each other. Undefined if the file has its own. */
export function nameOfPasted(name: string, now: Date): string | undefined {
  const extension = UNNAMED.exec(name)?.groups?.['extension']
  if (extension === undefined) return undefined
  const two = (part: number) => String(part).padStart(2, '0')
  const day = [now.getFullYear(), two(now.getMonth() + 1), two(now.getDate())].join('-')
  const time = [now.getHours(), now.getMinutes(), now.getSeconds()].map(two).join('.')
  return `image ${day} ${time}.${extension}`
}
