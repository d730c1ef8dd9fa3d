import type { PDFDocumentProxy } from 'pdfjs-dist'
import { useEffect, useRef, useState } from 'react'
import { useTexts } from '../texts/index.ts'
import { ONE_COLUMN, useMedia } from '../ui/index.ts'
import { PdfPage } from './pdf-page.tsx'
import { turned } from './pdf-rotation.ts'
import { PdfSearchBar } from './pdf-search-bar.tsx'
import { PdfThumbnails } from './pdf-thumbnails.tsx'
import { type PdfActions, PdfToolbar } from './pdf-toolbar.tsx'
import { usePdfKeys } from './use-pdf-keys.ts'
import { useFittingScale, usePdfPlaces, useSteadyPlace } from './use-pdf-places.ts'
import { usePdfPrint } from './use-pdf-print.tsx'
import { usePdfSearch } from './use-pdf-search.ts'

/** Zoom levels relative to the fitting scale. */
const ZOOMS = [0.5, 0.67, 0.8, 1, 1.25, 1.5, 2, 3, 4]

/** The pages of an open document with its tools. */
export function PdfPages(props: { pdf: PDFDocumentProxy; name: string; onBroken: () => void }) {
  const { pdf, name, onBroken } = props
  const texts = useTexts('viewer')
  const narrow = useMedia(ONE_COLUMN)
  const scroller = useRef<HTMLDivElement>(null)
  const [zoom, setZoom] = useState(1)
  const [fit, setFit] = useState<'width' | 'page'>('width')
  const [rotation, setRotation] = useState(0)
  const [hasThumbnails, setThumbnails] = useState(false)
  const [hasSearch, setSearch] = useState(false)
  const { sizes, current, near, read, measured, goTo } = usePdfPlaces(pdf, scroller, onBroken)
  const first = sizes[0] && turned(sizes[0], rotation)
  const scale = useFittingScale(scroller, first, fit) * zoom
  useSteadyPlace(scroller, read, `${scale} ${rotation}`)
  const currentPage = useRef(current)
  currentPage.current = current
  const search = usePdfSearch(pdf, currentPage)
  const { print, dialog } = usePdfPrint(pdf, rotation)

  const activePage = search.active?.page
  const { active } = search
  // biome-ignore lint/correctness/useExhaustiveDependencies: another match on the same page is scrolled to by the page.
  useEffect(() => {
    if (activePage !== undefined && activePage !== currentPage.current) goTo(activePage)
  }, [activePage, active, goTo])

  const nearer = ZOOMS.find((one) => one > zoom)
  const farther = ZOOMS.findLast((one) => one < zoom)
  const closeSearch = () => {
    setSearch(false)
    search.setTerm('')
    scroller.current?.focus({ preventScroll: true })
  }
  const actions: PdfActions = {
    zoomIn: nearer === undefined ? undefined : () => setZoom(nearer),
    zoomOut: farther === undefined ? undefined : () => setZoom(farther),
    toggleFit: () => {
      setFit(fit === 'width' ? 'page' : 'width')
      setZoom(1)
    },
    rotate: () => setRotation((rotation + 90) % 360),
    print,
    search: () => (hasSearch ? closeSearch() : setSearch(true)),
    toggleThumbnails: () => setThumbnails(!hasThumbnails),
  }
  usePdfKeys(scroller, actions, {
    isSearchOpen: hasSearch,
    step: search.step,
    resetZoom: () => setZoom(1),
  })
  return (
    <div className="viewer-body viewer-pdf">
      <PdfToolbar
        actions={actions}
        current={current}
        count={pdf.numPages}
        scale={scale}
        fit={fit}
        hasThumbnails={hasThumbnails}
        hasSearch={hasSearch}
        onGo={goTo}
      />
      {hasSearch && <PdfSearchBar search={search} onClose={closeSearch} />}
      <div className="pdf-main">
        {hasThumbnails && (
          <PdfThumbnails
            pdf={pdf}
            current={current}
            rotation={rotation}
            onGo={(page) => {
              goTo(page)
              // They cover the pages.
              if (narrow) setThumbnails(false)
            }}
          />
        )}
        {/* biome-ignore lint/a11y/useSemanticElements: a region that is scrolled by keyboard. */}
        <div
          ref={scroller}
          className="pdf-pages"
          role="region"
          aria-label={texts.pagesOf(name)}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: as said above.
          tabIndex={0}
        >
          {sizes.map((size, index) => (
            <PdfPage
              // biome-ignore lint/suspicious/noArrayIndexKey: pages are numbered.
              key={index}
              pdf={pdf}
              number={index + 1}
              size={turned(size, rotation)}
              scale={scale}
              rotation={rotation}
              isNear={near.has(index + 1)}
              matches={search.onPage.get(index + 1)}
              activeMatch={activePage === index + 1 ? active : undefined}
              onMeasured={measured}
              onGo={goTo}
            />
          ))}
        </div>
      </div>
      {dialog}
    </div>
  )
}
