import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { useLocation } from 'wouter'
import type { Entry, FileState, Photo, PhotoSet } from '../api/index.ts'
import { linkQuery, photoDay, usePhotoNeighbours } from '../api/index.ts'
import { isPicture, kindOf } from '../file-kinds.ts'
import { fileUrl, folderUrl, photosUrl, photoUrl, revisionUrl, snapshotUrl } from '../navigation/index.ts'
import { join, nameOf, parentOf } from '../paths.ts'
import { commandOf } from '../shortcuts.ts'
import { forwardPress } from '../ui/index.ts'
import { visitedLink } from '../visited-link.ts'
import type { OpenedFile } from './opened-file.ts'

/** Navigation between the files of a folder, or between the photos of the timeline. */
export interface SiblingNavigation {
  readonly position: number
  readonly count: number
  readonly neighbours: readonly FileState[]
  /** URL of the folder or timeline. */
  readonly back: string
  readonly isTimeline: boolean
  readonly toPrevious: (() => void) | undefined
  readonly toNext: (() => void) | undefined
}

/** Navigates by buttons, and by arrow keys unless something else handles them. Among images also by the space bar; Escape leaves. */
export function useSiblingNavigation(
  file: OpenedFile,
  files: readonly Entry[],
  /** The day of the timeline of photos that the file was opened from. */
  day: string | undefined,
  set: PhotoSet,
): SiblingNavigation {
  const [, go] = useLocation()
  const timeline = usePhotoNeighbours(file, day, set)
  const { libraryId, commitId } = file
  const folder = parentOf(file.path)
  const position = timeline?.position ?? files.findIndex(({ name }) => name === file.name)
  const count = timeline?.count ?? files.length
  const stepTo = (step: -1 | 1): Neighbour | undefined => {
    if (timeline !== undefined) return fromTimeline(step < 0 ? timeline.previous : timeline.next, set)
    const entry = day === undefined && position >= 0 ? files[position + step] : undefined
    if (entry === undefined) return undefined
    const path = join(folder, entry.name)
    const url = commitId === undefined ? fileUrl(libraryId, path) : revisionUrl(libraryId, path, commitId)
    return { url, state: { libraryId, path, id: entry.id, commitId } }
  }
  const [previous, next] = [stepTo(-1), stepTo(1)]
  // Replaces the history entry, so that Back leaves the viewer.
  const toPrevious = previous && (() => go(previous.url, { replace: true }))
  const toNext = next && (() => go(next.url, { replace: true }))
  const isGallery = kindOf(file.name) === 'image' || day !== undefined
  const back =
    day !== undefined
      ? photosUrl(set)
      : commitId === undefined
        ? folderUrl(libraryId, folder)
        : snapshotUrl(libraryId, commitId, folder)
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented) return
      if (isGallery && event.key === ' ' && !isPressed(event)) {
        event.preventDefault()
        if (event.shiftKey) toPrevious?.()
        else toNext?.()
      }
      if (isGallery && event.key === 'Escape' && !isOverlayOpen()) go(back)
      if (isTaken(event)) return
      const command = commandOf('viewer', forwardPress(event))
      if (command === 'previousFile') toPrevious?.()
      if (command === 'nextFile') toNext?.()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  })
  const neighbours = [previous, next].flatMap((one) => one?.state ?? [])
  return { position, count, neighbours, back, isTimeline: day !== undefined, toPrevious, toNext }
}

/** A file that the navigation leads to. */
interface Neighbour {
  readonly url: string
  readonly state: FileState
}

function fromTimeline(photo: Photo | undefined, set: PhotoSet): Neighbour | undefined {
  if (photo === undefined) return undefined
  const { repo_id: libraryId, path, id } = photo
  return {
    url: photoUrl(libraryId, path, photoDay(photo), set),
    state: { libraryId, path, id, commitId: undefined },
  }
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
export function usePreloadedSiblings(file: OpenedFile, neighbours: readonly FileState[]): void {
  const queries = useQueryClient()
  const isGallery = isPicture(file.name) && visitedLink?.canDownload !== false
  const wanted = neighbours.filter(({ path }) => isGallery && isPicture(nameOf(path)))
  const key = wanted.map(({ id }) => id).join(' ')
  // biome-ignore lint/correctness/useExhaustiveDependencies: the ids say all there is to know of the neighbours.
  useEffect(() => {
    for (const state of wanted) {
      const load = async () => {
        new Image().src = await queries.ensureQueryData(linkQuery(state))
      }
      // The error is shown when the image is opened.
      load().catch(() => undefined)
    }
  }, [key, queries])
}
