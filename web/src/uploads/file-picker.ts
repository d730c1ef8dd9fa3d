import type { PickedFile } from './uploads.ts'

/** Asks for files, or for a folder with all that is in it; nothing when the choice is cancelled. */
export function pickFiles({ folder = false }: { folder?: boolean } = {}): Promise<readonly PickedFile[]> {
  const input = document.createElement('input')
  input.type = 'file'
  input.multiple = true
  input.webkitdirectory = folder
  input.hidden = true
  // Some browsers forget a field that is not on the page before anything was chosen.
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
