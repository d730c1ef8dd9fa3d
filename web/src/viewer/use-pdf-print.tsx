import type { PDFDocumentProxy } from 'pdfjs-dist'
import { useEffect, useRef, useState } from 'react'
import { useTexts } from '../texts/index.ts'
import { Button, Dialog, Progress, useToast } from '../ui/index.ts'
import { MAX_PRINTED_PAGES, printPdf } from './print-pdf.ts'

/** Prints a document, with a dialog that shows the progress and can be closed to stop it. */
export function usePdfPrint(pdf: PDFDocumentProxy, rotation: number) {
  const texts = useTexts('viewer')
  const common = useTexts('common')
  const toast = useToast()
  const [printed, setPrinted] = useState<number>()
  const running = useRef<AbortController>(undefined)
  useEffect(() => () => running.current?.abort(), [])
  const start = async () => {
    if (pdf.numPages > MAX_PRINTED_PAGES) return toast({ text: texts.pdfTooLongToPrint, bad: true })
    running.current?.abort()
    const stopping = new AbortController()
    running.current = stopping
    setPrinted(0)
    try {
      await printPdf(pdf, { rotation, signal: stopping.signal, onPage: setPrinted })
    } catch {
      if (!stopping.signal.aborted) toast({ text: texts.cannotShow, bad: true })
    }
    if (running.current === stopping) setPrinted(undefined)
  }
  const stop = () => {
    running.current?.abort()
    setPrinted(undefined)
  }
  const dialog = printed !== undefined && (
    <Dialog
      title={texts.pdfPreparingPrint}
      onClose={stop}
      foot={<Button onClick={stop}>{common.cancel}</Button>}
    >
      <Progress value={printed / pdf.numPages} label={texts.pdfPreparingPrint} />
    </Dialog>
  )
  return { print: () => void start(), dialog }
}
