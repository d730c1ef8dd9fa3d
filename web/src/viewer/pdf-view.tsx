import './pdf.css'
import { useQuery } from '@tanstack/react-query'
import type { PDFDocumentProxy } from 'pdfjs-dist'
import { useCallback, useEffect, useState } from 'react'
import { linkQuery } from '../api/index.ts'
import { useTexts } from '../texts/index.ts'
import { FormDialog, LoadError, PasswordField, Waiting } from '../ui/index.ts'
import { InfoCard } from './info-card.tsx'
import type { OpenedFile } from './opened-file.ts'
import { openPdf } from './pdf-document.ts'
import { PdfPages } from './pdf-pages.tsx'

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
  if (pdf !== undefined) return <PdfPages pdf={pdf} name={file.name} onBroken={onBroken} />
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
