export default function StarredPage() {
  return <div className="page" />
}
