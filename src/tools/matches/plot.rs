//! A picture of the match: Elo with its interval, and the log-likelihood ratio, over games.

use std::path::Path;

use plotters::coord::Shift;
use plotters::prelude::*;
use thiserror::Error;

use super::record::GameRecord;
use super::sprt::Sprt;
use super::standings::Standings;

/// A picture that could not be drawn.
#[derive(Debug, Error)]
#[error("cannot draw {path}: {text}")]
pub struct PlotError {
    path: String,
    text: String,
}

/// One point of the curves, after a complete pair.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Point {
    games: f64,
    elo: f64,
    low: f64,
    high: f64,
    llr: f64,
}

/// Draws the first engine's Elo into an SVG file, and below it the LLR if there is a test.
///
/// # Errors
/// If the file cannot be written.
pub fn draw(path: &Path, names: &[String], games: &[&GameRecord], sprt: Option<&Sprt>) -> Result<(), PlotError> {
    let error = |text: String| PlotError { path: path.display().to_string(), text };
    let points = points(names, games, sprt);
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (900, if sprt.is_some() { 800 } else { 460 })).into_drawing_area();
        render(&area, names, &points, sprt).map_err(|e| error(e.to_string()))?;
    }
    std::fs::write(path, svg).map_err(|e| error(e.to_string()))
}

fn points(names: &[String], games: &[&GameRecord], sprt: Option<&Sprt>) -> Vec<Point> {
    let mut standings = Standings::new(names.iter().map(String::as_str));
    let mut points: Vec<Point> = Vec::new();
    let mut pairs = 0;
    for game in games {
        standings.add(game);
        let Some(first) = standings.engines.first() else { continue };
        if first.pairs.pairs() > pairs {
            pairs = first.pairs.pairs();
            let elo = first.pairs.elo();
            points.push(Point {
                games: f64::from(standings.games),
                elo: elo.value,
                low: elo.low,
                high: elo.high,
                llr: sprt.map_or(0.0, |sprt| sprt.llr(&first.pairs)),
            });
        }
    }
    points
}

/// How axes are labelled.
const LABELS: (&str, i32) = ("sans-serif", 17);

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type DrawError<'a> = DrawingAreaErrorKind<<SVGBackend<'a> as DrawingBackend>::ErrorType>;

fn render<'a>(area: &Area<'a>, names: &[String], points: &[Point], sprt: Option<&Sprt>) -> Result<(), DrawError<'a>> {
    area.fill(&WHITE)?;
    let others = if names.len() == 2 { names[1].as_str() } else { "the others" };
    let title = format!("{} against {others}", names.first().map_or("", String::as_str));
    let games = points.last().map_or(2.0, |point| point.games).max(2.0);
    match sprt {
        None => elo_chart(area, &title, points, games)?,
        Some(sprt) => {
            let (upper, lower) = area.split_vertically(460);
            elo_chart(&upper, &title, points, games)?;
            llr_chart(&lower, sprt, points, games)?;
        }
    }
    area.present()
}

fn elo_chart<'a>(area: &Area<'a>, title: &str, points: &[Point], games: f64) -> Result<(), DrawError<'a>> {
    // The first few games say next to nothing; their intervals would flatten all that follows.
    let settled = &points[points.len() / 10..];
    let low = settled.iter().map(|point| point.low).fold(-10.0, f64::min);
    let high = settled.iter().map(|point| point.high).fold(10.0, f64::max);
    let mut chart = ChartBuilder::on(area)
        .caption(title, ("sans-serif", 28))
        .margin(12)
        .x_label_area_size(45)
        .y_label_area_size(70)
        .build_cartesian_2d(0.0..games, low..high)?;
    chart
        .configure_mesh()
        .x_desc("games")
        .y_desc("Elo, 95 % interval")
        .x_label_formatter(&whole)
        .label_style(LABELS)
        .axis_desc_style(LABELS)
        .draw()?;
    let inside = |value: f64| value.clamp(low, high);
    let band = points.iter().map(|point| (point.games, inside(point.high)));
    let band = band.chain(points.iter().rev().map(|point| (point.games, inside(point.low))));
    chart.draw_series(std::iter::once(Polygon::new(band.collect::<Vec<_>>(), BLUE.mix(0.15))))?;
    chart.draw_series(LineSeries::new([(0.0, 0.0), (games, 0.0)], BLACK.mix(0.4)))?;
    chart.draw_series(LineSeries::new(points.iter().map(|point| (point.games, inside(point.elo))), &BLUE))?;
    Ok(())
}

fn llr_chart<'a>(area: &Area<'a>, sprt: &Sprt, points: &[Point], games: f64) -> Result<(), DrawError<'a>> {
    let (lower, upper) = sprt.bounds();
    let low = points.iter().map(|point| point.llr).fold(lower, f64::min) - 0.3;
    let high = points.iter().map(|point| point.llr).fold(upper, f64::max) + 0.3;
    let mut chart = ChartBuilder::on(area)
        .margin(12)
        .x_label_area_size(45)
        .y_label_area_size(70)
        .build_cartesian_2d(0.0..games, low..high)?;
    let desc = format!("LLR, {} against {}", sprt.elo0, sprt.elo1);
    chart
        .configure_mesh()
        .x_desc("games")
        .y_desc(desc)
        .x_label_formatter(&whole)
        .label_style(LABELS)
        .axis_desc_style(LABELS)
        .draw()?;
    chart.draw_series(LineSeries::new([(0.0, lower), (games, lower)], &RED))?;
    chart.draw_series(LineSeries::new([(0.0, upper), (games, upper)], &GREEN))?;
    let curve = std::iter::once((0.0, 0.0)).chain(points.iter().map(|point| (point.games, point.llr)));
    chart.draw_series(LineSeries::new(curve, &BLUE))?;
    Ok(())
}

fn whole(value: &f64) -> String {
    format!("{value:.0}")
}

#[cfg(test)]
mod tests {
    use super::super::record::tests::game;
    use super::super::record::{GameResult, Reason};
    use super::super::sprt::Model;
    use super::*;

    #[test]
    fn a_picture_of_any_match() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("plot.svg");
        let names = ["A".to_owned(), "B".to_owned()];
        let games: Vec<_> = (1..40)
            .map(|n| game(n, if n % 3 == 0 { GameResult::Draw } else { GameResult::SenteWins }, Reason::Checkmate))
            .collect();
        let sprt = Sprt { elo0: 0.0, elo1: 5.0, alpha: 0.05, beta: 0.05, model: Model::Logistic };
        for count in [0, 1, 2, 39] {
            for sprt in [None, Some(&sprt)] {
                let games: Vec<_> = games.iter().take(count).collect();
                draw(&path, &names, &games, sprt).expect("drawn");
                let svg = std::fs::read_to_string(&path).expect("there");
                assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
                assert!(svg.contains("A against B") && !svg.contains("NaN"));
                assert_eq!(svg.contains("LLR"), sprt.is_some());
            }
        }
    }
}
