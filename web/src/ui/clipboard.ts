/** Copies a text to the clipboard. Falls back to execCommand without HTTPS, where there is no clipboard API. */
export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard !== undefined) {
    await navigator.clipboard.writeText(text)
    return
  }
  const holder = document.createElement('textarea')
  holder.value = text
  holder.className = 'visually-hidden'
  holder.readOnly = true
  // Within an open dialog, which traps the focus.
  const around = document.activeElement?.closest('[role="dialog"]') ?? document.body
  const focused = document.activeElement
  around.append(holder)
  holder.select()
  const copied = document.execCommand('copy')
  holder.remove()
  if (focused instanceof HTMLElement) focused.focus()
  if (!copied) throw new Error('')
}
