// Plays a random legal move: `choose` is where it thinks.
use std::io::{self, BufRead};

struct Dice(u64);

impl Dice {
    /// A number below `sides`, by the generator of Knuth's MMIX, whose upper bits are the good ones.
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % sides
    }
}

fn choose<'a>(legal: &'a [String], dice: &mut Dice) -> &'a str {
    &legal[dice.roll(legal.len())]
}

fn main() -> io::Result<()> {
    let mut dice = Dice(0);
    let mut legal: Vec<String> = Vec::new();
    for line in io::stdin().lock().lines() {
        let line = line?;
        let mut words = line.split_whitespace();
        match words.next() {
            Some("hello") => println!("ready example-rs want=legal"),
            Some("newgame") => {
                let seed = words.find_map(|word| word.strip_prefix("seed=")?.parse().ok());
                dice = Dice(seed.unwrap_or(0));
                println!("ok");
            }
            Some("legal") => legal = words.map(String::from).collect(),
            Some("go") => println!("move {}", choose(&legal, &mut dice)),
            Some("quit") => break,
            _ => {}
        }
    }
    Ok(())
}
