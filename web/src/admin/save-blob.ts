const KEPT_MS = 60_000

/** Has the browser save bytes under a name. */
export function saveBlob(bytes: Blob, name: string): void {
  const address = URL.createObjectURL(bytes)
  const anchor = document.createElement('a')
  anchor.href = address
  anchor.download = name
  anchor.click()
  // Not at once: the browser reads it after this.
  setTimeout(() => URL.revokeObjectURL(address), KEPT_MS)
}
