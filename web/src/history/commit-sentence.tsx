import { useEffect, useRef, useState } from 'react'
import { type CommitItem, useCommit } from '../api/index.ts'
import { nameOf, parentOf } from '../paths.ts'
import { useFormats, useTexts } from '../texts/index.ts'
import { Sentence, visibleName } from '../ui/index.ts'
import { type Described, describeCommit, lacksTarget, targetSentence } from './commit-descriptions.ts'

/** What a commit did and when, such as "Anna renamed a.txt to b.txt · 3 minutes ago". */
export function CommitSentence({ libraryId, commit }: { libraryId: string; commit: CommitItem }) {
  const texts = useTexts('history')
  const common = useTexts('common')
  const formats = useFormats()
  const row = useRef<HTMLDivElement>(null)
  const described = describeCommit(commit.description)
  const target = useTarget({ libraryId, commit, described, row })
  const who = (
    <strong>
      <bdi>{commit.via_link ? common.visitor(commit.name) : commit.name || texts.system}</bdi>
    </strong>
  )
  return (
    <div ref={row}>
      {described.map(({ sentence, name, more }, index) => (
        <p key={`${sentence}${name ?? ''}`}>
          <Sentence
            sentence={texts.sentences[target === undefined ? sentence : targetSentence(sentence)]}
            parts={{
              who,
              what: (
                <>
                  <bdi className="history-name">{visibleName(name ?? '')}</bdi>
                  {more !== undefined && ` ${texts.andMore(more)}`}
                </>
              ),
              to: <bdi className="history-name">{target}</bdi>,
            }}
          />
          {index === 0 && (
            <>
              <span className="muted" aria-hidden>
                {' · '}
              </span>
              <time className="muted" dateTime={commit.time} title={formats.moment(commit.time)}>
                {formats.ago(commit.time)}
              </time>
            </>
          )}
        </p>
      ))}
    </div>
  )
}

/** The new name or folder of a renamed or moved entry. Only its changes contain it: they are loaded once the row is visible. */
function useTarget(props: {
  libraryId: string
  commit: CommitItem
  described: readonly Described[]
  row: React.RefObject<HTMLDivElement | null>
}): string | undefined {
  const { libraryId, commit, described, row } = props
  const texts = useTexts('history')
  const isWanted = lacksTarget(described)
  const [isSeen, setSeen] = useState(false)
  useEffect(() => {
    if (!isWanted || row.current === null) return
    const observer = new IntersectionObserver(([entry]) => {
      if (entry?.isIntersecting) setSeen(true)
    })
    observer.observe(row.current)
    return () => observer.disconnect()
  }, [isWanted, row])
  const { data } = useCommit(libraryId, commit.commit_id, isWanted && isSeen)
  const [first] = described
  const change = data?.commit_diffs.find(
    ({ op_type: op, path }) => op === 'renamed' && nameOf(path) === first?.name,
  )
  if (change === undefined || first === undefined) return undefined
  if (first.sentence === 'renamed' || first.sentence === 'renamedFolder') return nameOf(change.new_path)
  const folder = parentOf(change.new_path)
  return folder === '/' ? texts.root : nameOf(folder)
}
