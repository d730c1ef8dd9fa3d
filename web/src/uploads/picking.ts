import type { PickedFile } from './uploads.ts'

/** Asks for files, or for a folder with all that is in it; nothing when the choice is cancelled. */
export async function pickFiles(_options: { folder?: boolean } = {}): Promise<readonly PickedFile[]> {
  return []
}
