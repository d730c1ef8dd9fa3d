import type { PickedFile } from './uploads.ts'

/** Opens the browser's file picker for files or for a folder. Empty if it is cancelled. */
export function pickFiles({ folder = false }: { folder?: boolean } = {}): Promise<readonly PickedFile[]> {
  const input = document.createElement('input')
  input.type = 'file'
  input.multiple = true
  input.webkitdirectory = folder
  input.hidden = true
  // Some browsers garbage-collect an input that is not in the document.
  document.body.append(input)
  return new Promise((resolve) => {
    const end = (files: readonly PickedFile[]) => {
      input.remove()
      resolve(files)
    }
    input.addEventListener('cancel', () => end([]))
    input.addEventListener('change', () => {
      end(
        Array.from(input.files ?? [], (file) => ({
          file,
          relativePath: file.webkitRelativePath || file.name,
        })),
      )
    })
    input.click()
  })
}
