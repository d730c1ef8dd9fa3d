export default function LinksPage() {
  return <div className="page" />
}
