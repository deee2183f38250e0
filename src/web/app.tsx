export function App() {
  return <main>Stepscope</main>;
}
