const KEPT_MS = 60_000

/** Saves a blob as a file with the browser. */
export function saveBlob(bytes: Blob, name: string): void {
  const address = URL.createObjectURL(bytes)
  const anchor = document.createElement('a')
  anchor.href = address
  anchor.download = name
  anchor.click()
  // Revoked later, because the browser reads the URL asynchronously.
  setTimeout(() => URL.revokeObjectURL(address), KEPT_MS)
}
