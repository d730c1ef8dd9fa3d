import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { useLocation } from 'wouter'
import type { Entry } from '../api/index.ts'
import { linkQuery } from '../api/index.ts'
import { isPicture, kindOf } from '../file-kinds.ts'
import { fileUrl, folderUrl, revisionUrl, snapshotUrl } from '../navigation/index.ts'
import { join, parentOf } from '../paths.ts'
import { commandOf } from '../shortcuts.ts'
import type { OpenedFile } from './opened-file.ts'

/** Navigation between the files of a folder. */
export interface SiblingNavigation {
  readonly position: number
  readonly count: number
  readonly neighbours: readonly Entry[]
  readonly toPrevious: (() => void) | undefined
  readonly toNext: (() => void) | undefined
}

/** Navigates by buttons, and by arrow keys unless something else handles them. Among images also by the space bar; Escape leaves. */
export function useSiblingNavigation(file: OpenedFile, files: readonly Entry[]): SiblingNavigation {
  const [, go] = useLocation()
  const position = files.findIndex(({ name }) => name === file.name)
  const previous = position < 0 ? undefined : files[position - 1]
  const next = position < 0 ? undefined : files[position + 1]
  const stepTo = (entry: Entry | undefined) => {
    if (entry === undefined) return undefined
    const path = join(parentOf(file.path), entry.name)
    const { libraryId, commitId } = file
    const address = commitId === undefined ? fileUrl(libraryId, path) : revisionUrl(libraryId, path, commitId)
    // Replaces the history entry, so that Back leaves the viewer.
    return () => go(address, { replace: true })
  }
  const [toPrevious, toNext] = [stepTo(previous), stepTo(next)]
  const isGallery = kindOf(file.name) === 'image'
  const toFolder = () => {
    const folder = parentOf(file.path)
    go(
      file.commitId === undefined
        ? folderUrl(file.libraryId, folder)
        : snapshotUrl(file.libraryId, file.commitId, folder),
    )
  }
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented) return
      if (isGallery && event.key === ' ' && !isPressed(event)) {
        event.preventDefault()
        if (event.shiftKey) toPrevious?.()
        else toNext?.()
      }
      if (isGallery && event.key === 'Escape' && !isOverlayOpen()) toFolder()
      if (isTaken(event)) return
      const command = commandOf('viewer', event)
      if (command === 'previousFile') toPrevious?.()
      if (command === 'nextFile') toNext?.()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  })
  const neighbours = [previous, next].filter((entry) => entry !== undefined)
  return { position, count: files.length, neighbours, toPrevious, toNext }
}

function isTaken({ target, altKey, ctrlKey, metaKey, shiftKey }: KeyboardEvent): boolean {
  if (altKey || ctrlKey || metaKey || shiftKey) return true
  // While a text is being edited, arrow keys never navigate.
  if (document.querySelector('.viewer-editor [contenteditable="true"]') !== null) return true
  if (!(target instanceof Element)) return false
  return (
    movesSideways(target) ||
    target.closest(
      'input, textarea, select, video, audio, [contenteditable="true"], [role="menu"], [role="dialog"], [role="tablist"]',
    ) !== null
  )
}

/** Whether the space bar presses the element with the focus, or types into it. */
function isPressed({ target }: KeyboardEvent): boolean {
  return (
    target instanceof Element && target.closest('a, button, input, textarea, select, [role="menu"]') !== null
  )
}

/** Escape closes a dialog or menu first. */
function isOverlayOpen(): boolean {
  return document.querySelector('[role="dialog"], [role="alertdialog"], [role="menu"]') !== null
}

/** Whether arrow keys scroll an element around the focus. */
function movesSideways(target: Element): boolean {
  for (let one: Element | null = target; one !== null && one !== document.body; one = one.parentElement) {
    if (one.scrollWidth <= one.clientWidth) continue
    if (/auto|scroll/.test(getComputedStyle(one).overflowX)) return true
  }
  return false
}

/** Preloads the previous and the next image. */
export function usePreloadedSiblings(file: OpenedFile, neighbours: readonly Entry[]): void {
  const queries = useQueryClient()
  const { libraryId, path, commitId } = file
  const isGallery = isPicture(file.name)
  const wanted = neighbours.filter(({ name }) => isGallery && isPicture(name))
  const key = wanted.map(({ id }) => id).join(' ')
  // biome-ignore lint/correctness/useExhaustiveDependencies: the ids say all there is to know of the neighbours.
  useEffect(() => {
    for (const { name, id } of wanted) {
      const state = { libraryId, path: join(parentOf(path), name), id, commitId }
      const load = async () => {
        new Image().src = await queries.ensureQueryData(linkQuery(state))
      }
      // The error is shown when the image is opened.
      load().catch(() => undefined)
    }
  }, [key, libraryId, path, commitId, queries])
}
