//! The loss curve.

use plotters::prelude::*;

use super::checkpoint::LossPoint;

/// Name, color, and what it shows of a point.
type Curve = (&'static str, RGBColor, fn(&LossPoint) -> f64);

/// Draws both losses over the epochs.
///
/// # Errors
/// If the drawing library refuses.
pub fn loss_curve(losses: &[LossPoint]) -> Result<String, Box<dyn std::error::Error + Send + Sync>> {
    let values = || losses.iter().flat_map(|point| [point.training, point.validation]);
    let (low, high) = values().fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(value), high.max(value)));
    let last = losses.last().map_or(1.0, |point| point.epoch);
    let mut text = String::new();
    {
        let root = SVGBackend::with_string(&mut text, (960, 540)).into_drawing_area();
        root.fill(&WHITE)?;
        let margin = ((high - low) / 20.0).max(1e-5);
        let mut chart = ChartBuilder::on(&root)
            .caption("squared error of the expected points", ("sans-serif", 22))
            .margin(16)
            .x_label_area_size(44)
            .y_label_area_size(72)
            .build_cartesian_2d(0.0..last.max(1e-3), low - margin..high + margin)?;
        chart.configure_mesh().x_desc("epochs").y_label_formatter(&|loss| format!("{loss:.4}")).draw()?;
        let curves: [Curve; 2] = [
            ("training", RGBColor(0x1f, 0x77, 0xb4), |point| point.training),
            ("validation", RGBColor(0xd6, 0x27, 0x28), |point| point.validation),
        ];
        for (name, color, loss) in curves {
            let line = LineSeries::new(losses.iter().map(|point| (point.epoch, loss(point))), color.stroke_width(2));
            chart
                .draw_series(line)?
                .label(name)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], color.stroke_width(2)));
        }
        chart.configure_series_labels().border_style(BLACK).background_style(WHITE).draw()?;
        root.present()?;
    }
    Ok(text)
}
