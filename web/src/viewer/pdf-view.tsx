import './pdf.css'
import { useQuery } from '@tanstack/react-query'
import { ChevronDown, ChevronUp, ZoomIn, ZoomOut } from 'lucide-react'
import type { PDFDocumentProxy } from 'pdfjs-dist'
import { useCallback, useEffect, useRef, useState } from 'react'
import { linkQuery } from '../api/index.ts'
import { useTexts } from '../texts/index.ts'
import { FormDialog, IconButton, LoadError, PasswordField, Waiting } from '../ui/index.ts'
import { InfoCard } from './info-card.tsx'
import type { OpenedFile } from './opened-file.ts'
import { openPdf } from './pdf-document.ts'
import { PdfPage } from './pdf-page.tsx'
import { useFittingScale, usePdfPlaces, useSteadyPlace } from './use-pdf-places.ts'

/** Zoom levels relative to the width of the window. */
const ZOOMS = [0.5, 0.67, 0.8, 1, 1.25, 1.5, 2, 3, 4]

/** Renders a PDF without running its scripts. */
export default function PdfView({ file }: { file: OpenedFile }) {
  const texts = useTexts('viewer')
  const link = useQuery(linkQuery(file))
  const [pdf, setPdf] = useState<PDFDocumentProxy>()
  const [isBroken, setBroken] = useState(false)
  const onBroken = useCallback(() => setBroken(true), [])
  const [question, setQuestion] = useState<{ answer: (password: string) => void; wasWrong: boolean }>()
  useEffect(() => {
    if (link.data === undefined) return
    let isGone = false
    const opening = openPdf(link.data, (answer, wasWrong) => setQuestion({ answer, wasWrong }))
    opening.document.then(
      (document) => !isGone && setPdf(document),
      () => !isGone && setBroken(true),
    )
    return () => {
      isGone = true
      opening.close()
      setPdf(undefined)
      setBroken(false)
    }
  }, [link.data])
  if (link.error) return <LoadError error={link.error} onRetry={() => void link.refetch()} />
  if (isBroken) return <InfoCard file={file} why={texts.cannotShow} />
  if (pdf !== undefined) return <Pages pdf={pdf} name={file.name} onBroken={onBroken} />
  return (
    <>
      <Waiting />
      {question && (
        <PasswordQuestion
          key={String(question.wasWrong)}
          wasWrong={question.wasWrong}
          onClose={() => setBroken(true)}
          onAnswer={(password) => {
            setQuestion(undefined)
            question.answer(password)
          }}
        />
      )}
    </>
  )
}

function PasswordQuestion(props: {
  wasWrong: boolean
  onAnswer: (password: string) => void
  onClose: () => void
}) {
  const texts = useTexts('viewer')
  const common = useTexts('common')
  const [password, setPassword] = useState('')
  return (
    <FormDialog
      title={texts.pdfLocked}
      submit={common.open}
      disabled={password === ''}
      onSubmit={async () => props.onAnswer(password)}
      onClose={() => password === '' && props.onClose()}
    >
      <PasswordField
        label={common.password}
        value={password}
        error={props.wasWrong ? texts.pdfWrongPassword : undefined}
        onChange={(event) => setPassword(event.target.value)}
      />
    </FormDialog>
  )
}

function Pages(props: { pdf: PDFDocumentProxy; name: string; onBroken: () => void }) {
  const { pdf, name, onBroken } = props
  const texts = useTexts('viewer')
  const scroller = useRef<HTMLDivElement>(null)
  const [zoom, setZoom] = useState(1)
  const { sizes, current, near, read, measured, goTo } = usePdfPlaces(pdf, scroller, onBroken)
  const scale = useFittingScale(scroller, sizes[0]?.width) * zoom
  useSteadyPlace(scroller, read, scale)
  const nearer = ZOOMS.find((one) => one > zoom)
  const farther = ZOOMS.findLast((one) => one < zoom)
  return (
    <div className="viewer-body viewer-pdf">
      <div className="viewer-tools" role="toolbar" aria-label={texts.pdfTools}>
        <IconButton
          label={texts.previousPage}
          icon={ChevronUp}
          disabled={current <= 1}
          onClick={() => goTo(current - 1)}
        />
        <IconButton
          label={texts.nextPage}
          icon={ChevronDown}
          disabled={current >= pdf.numPages}
          onClick={() => goTo(current + 1)}
        />
        <PageField current={current} count={pdf.numPages} onGo={goTo} />
        <span className="viewer-tools-gap" />
        <IconButton
          label={texts.zoomOut}
          icon={ZoomOut}
          disabled={farther === undefined}
          onClick={() => setZoom(farther ?? zoom)}
        />
        <output className="viewer-scale" aria-label={texts.zoom}>
          {texts.percent(Math.round(scale * 100))}
        </output>
        <IconButton
          label={texts.zoomIn}
          icon={ZoomIn}
          disabled={nearer === undefined}
          onClick={() => setZoom(nearer ?? zoom)}
        />
      </div>
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
            size={size}
            scale={scale}
            isNear={near.has(index + 1)}
            onMeasured={measured}
            onGo={goTo}
          />
        ))}
      </div>
    </div>
  )
}

function PageField(props: { current: number; count: number; onGo: (page: number) => void }) {
  const texts = useTexts('viewer')
  const [typed, setTyped] = useState<string>()
  const go = () => {
    const page = Math.round(Number(typed))
    if (page >= 1 && page <= props.count) props.onGo(page)
    setTyped(undefined)
  }
  return (
    <form
      className="pdf-page-field"
      onSubmit={(event) => {
        event.preventDefault()
        go()
      }}
    >
      <input
        className="input"
        inputMode="numeric"
        aria-label={texts.page}
        value={typed ?? String(props.current)}
        onChange={(event) => setTyped(event.target.value)}
        onBlur={() => setTyped(undefined)}
        onFocus={(event) => event.target.select()}
      />
      <span className="muted">{texts.ofPages(props.count)}</span>
    </form>
  )
}
