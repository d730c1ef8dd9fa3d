/** Where files go. */
export interface UploadTarget {
  readonly libraryId: string
  readonly libraryName: string
  readonly path: string
}

/** A file, and where below the target it belongs: `holiday/beach.jpg`, or just its name. */
export interface PickedFile {
  readonly file: File
  readonly relativePath: string
}

/** Queues files; the tray shows how they fare. */
export function addUploads(_target: UploadTarget, _files: readonly PickedFile[]): void {}
