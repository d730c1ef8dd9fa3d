import type { PDFDocumentProxy } from 'pdfjs-dist'
import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react'

/** Size of a page in document units, which are pixels at scale 1. */
export interface PageSize {
  readonly width: number
  readonly height: number
}

/**
 * Layout of the pages of a document: which are near enough to render, and which is current. Pages count
 * as large as the first until they were rendered once.
 */
export function usePdfPlaces(
  pdf: PDFDocumentProxy,
  scroller: RefObject<HTMLDivElement | null>,
  onBroken: () => void,
) {
  const [sizes, setSizes] = useState<readonly PageSize[]>([])
  const [near, setNear] = useState<ReadonlySet<number>>(new Set([1]))
  const [current, setCurrent] = useState(1)
  const read = useRef<Place>({ number: 1, part: 0 })

  useEffect(() => {
    let isGone = false
    const measure = async () => {
      const { width, height } = (await pdf.getPage(1)).getViewport({ scale: 1 })
      if (!isGone) setSizes(Array.from({ length: pdf.numPages }, () => ({ width, height })))
    }
    measure().catch(onBroken)
    return () => {
      isGone = true
    }
  }, [pdf, onBroken])

  const count = sizes.length
  useEffect(() => {
    const root = scroller.current
    if (root === null || count === 0) return
    const observer = new IntersectionObserver(
      (entries) =>
        setNear((before) => {
          const after = new Set(before)
          for (const { target, isIntersecting } of entries) {
            if (isIntersecting) after.add(numberOf(target))
            else after.delete(numberOf(target))
          }
          return after
        }),
      { root, rootMargin: '100% 0px' },
    )
    for (const page of root.children) observer.observe(page)
    const onScroll = () => {
      const place = readAt(root)
      read.current = place
      setCurrent(place.number)
    }
    root.addEventListener('scroll', onScroll, { passive: true })
    return () => {
      observer.disconnect()
      root.removeEventListener('scroll', onScroll)
    }
  }, [scroller, count])

  const measured = useCallback((number: number, size: PageSize) => {
    setSizes((before) => {
      const known = before[number - 1]
      if (known === undefined || (known.width === size.width && known.height === size.height)) return before
      return before.with(number - 1, size)
    })
  }, [])

  const goTo = useCallback(
    (number: number) => scroller.current?.children[number - 1]?.scrollIntoView({ block: 'start' }),
    [scroller],
  )
  return { sizes, near, current, read, measured, goTo }
}

/** Keeps the reading position when the layout changes, which is named by the scale and the rotation. */
export function useSteadyPlace(
  scroller: RefObject<HTMLDivElement | null>,
  read: RefObject<Place>,
  layout: string,
): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is the change of the layout that moves everything.
  useLayoutEffect(() => {
    const root = scroller.current
    const page = root?.children[read.current.number - 1]
    if (!root || !page) return
    const box = page.getBoundingClientRect()
    root.scrollTop += box.top + box.height * read.current.part - lineOf(root)
  }, [scroller, read, layout])
}

const MARGINS = 32
const LARGEST_FIT = 1.5

/** Scale to fit the width of the window, up to a maximum, or to fit a whole page into it. */
export function useFittingScale(
  scroller: RefObject<HTMLDivElement | null>,
  page: PageSize | undefined,
  fit: 'width' | 'page',
): number {
  const [room, setRoom] = useState<PageSize>()
  useEffect(() => {
    const element = scroller.current
    if (element === null) return
    const observer = new ResizeObserver(() =>
      setRoom({ width: element.clientWidth, height: element.clientHeight }),
    )
    observer.observe(element)
    return () => observer.disconnect()
  }, [scroller])
  if (room === undefined || page === undefined) return 1
  const wide = Math.max(0.1, (room.width - MARGINS) / page.width)
  if (fit === 'width') return Math.min(LARGEST_FIT, wide)
  return Math.min(wide, Math.max(0.1, (room.height - MARGINS) / page.height))
}

const numberOf = (page: Element) => Number((page as HTMLElement).dataset['page'])

/** A position in a document: a page and an offset in it. */
interface Place {
  readonly number: number
  readonly part: number
}

/** The reading position is at a third of the height. */
const lineOf = (root: HTMLElement) => root.getBoundingClientRect().top + root.clientHeight / 3

function readAt(root: HTMLElement): Place {
  const line = lineOf(root)
  // Pages are in order, so the first one that ends below the line matches.
  let [low, high] = [0, root.children.length - 1]
  while (low < high) {
    const half = Math.floor((low + high) / 2)
    const page = root.children[half]
    if (page !== undefined && page.getBoundingClientRect().bottom < line) low = half + 1
    else high = half
  }
  const box = root.children[low]?.getBoundingClientRect()
  return { number: low + 1, part: box ? (line - box.top) / box.height : 0 }
}
