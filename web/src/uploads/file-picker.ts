import { nameOfPasted } from './pasted-files.ts'
import type { PickedFile } from './uploads.ts'

/** Opens the browser's file picker for files or for a folder, or the camera. Empty if it is cancelled. */
export function pickFiles({
  folder = false,
  camera = false,
}: {
  folder?: boolean
  camera?: boolean
} = {}): Promise<readonly PickedFile[]> {
  const input = document.createElement('input')
  input.type = 'file'
  input.multiple = true
  input.webkitdirectory = folder
  if (camera) {
    input.accept = 'image/*,video/*'
    input.capture = 'environment'
    input.multiple = false
  }
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
          // Cameras give every photo the same name.
          relativePath:
            (camera && nameOfPasted(file.name, new Date())) || file.webkitRelativePath || file.name,
        })),
      )
    })
    input.click()
  })
}
